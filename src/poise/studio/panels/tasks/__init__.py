"""The panels of tasks: their list, the form of one task, and dialogs that add and edit tasks."""
