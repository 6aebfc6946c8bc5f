"""OpenAPI, made from schemas and resource specs: version 3 by group version, version 2 as one document.

`OpenApi` is the face of the room: it builds a document when it is first asked for and keeps its bytes.
"""

from hyperkube_host.apiserver.openapi.described import NoDescriptions
from hyperkube_host.apiserver.openapi.documents import Document, OpenApi

__all__ = ["Document", "NoDescriptions", "OpenApi"]
