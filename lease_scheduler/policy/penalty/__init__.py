"""What providers owe for terms that they did not keep."""
