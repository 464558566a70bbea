"""What an incident cost: which records ceased to count, whose they were, and where copies survive."""
