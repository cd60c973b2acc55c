"""HTTP service (`onmargin serve`): learns posted examples, journals them, and shows progress on a page."""
