"""Log files of many shapes, read into records: text, tables, JSON lines and JSON documents.

Knows nothing of any store. Every physical line of a file is accounted to exactly one record.
"""
