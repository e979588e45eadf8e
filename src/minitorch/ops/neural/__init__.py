"""What layers are made of: convolutions, pools, recurrences, attention, resampling."""
