"""Trains a hypernetwork on the rest of sessions: what follows a document, without the document."""
