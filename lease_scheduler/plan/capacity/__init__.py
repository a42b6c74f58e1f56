"""What is free, and when: the resources in use on every host over time, and what requests need of them."""
