"""Disk images: snapshots of servers that end with their lease, and images in the caches of hosts."""
