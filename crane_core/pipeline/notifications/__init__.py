"""Messages to people who wait for a job or a campaign: their channels, what happened, and sending it."""
