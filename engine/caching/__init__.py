"""What need not be computed twice."""
