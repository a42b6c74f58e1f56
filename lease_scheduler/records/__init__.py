"""What the service keeps beside the plan: plain values, the same for every store and cloud."""
