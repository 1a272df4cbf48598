"""What every server of poise needs: a key, a guard who asks for it, and a port to listen at."""
