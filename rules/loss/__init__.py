"""What an incident cost: which records ceased to count, whose they were, and where copies survive.

What went: `left_out` (a new leader began without it), `held_by_none` (no log holds it), but for what was deleted.
Was it promised: `accounts`, and `answered_for` of producers, with `gone`, `held_on`, `last_answers`, `unknown_cuts`.
Does it stand again: `held_again`, as one set of offsets. What is open is `unsettled`, and says what would tell.
The bill: `incurred` puts them together, `worth` weighs, `survivors` and `read_before` say where copies and readers are.
"""
