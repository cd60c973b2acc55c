"""The command line and the service, built on the public API only."""
