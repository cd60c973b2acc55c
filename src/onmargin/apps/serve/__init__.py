"""A service that learns what is posted to it, keeps all of it, and shows how it goes: `onmargin serve`."""
