"""What an incident cost: which records ceased to count, whose they were, and where copies survive.

What went: `left_out` (a new leader began without it), `held_by_none` (no log holds it), but for what was deleted.
Was it promised: `committed` and `answers` (with `gone`, `unsettled` and `unplaced` for what became of them), and
`unanswered`, where an answer may be missing. Does it stand again: `restored`, `held_on`, `sent_again`, `reopened`.
The bill: `incurred` puts them together, `bill` weighs, `survivors` and `read_before` say where copies and readers are.
"""
