"""Commands of the command line: their options. Each imports what it runs when it is called."""
