"""One site to one place: a damped least-squares search inside all limits."""
