"""What every room stands on and what knows no Pod.

Errors, names, selectors, quantities, time, codecs, patches and schemas.
"""
