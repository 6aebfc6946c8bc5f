"""A KMS behind a unix socket, for tests."""

from concurrent.futures import ThreadPoolExecutor

import grpc
from hyperkube_storage.kms import messages


class KeyServer:
    """Encrypts by turning bytes over, under whatever key id it is told to have; counts its calls."""

    def __init__(self, folder):
        self.endpoint = f"unix://{folder / 'kms.sock'}"
        self.key_id, self.health, self.calls = "key-1", "ok", []
        self.server = None
        self.start()

    def start(self):
        self.server = grpc.server(ThreadPoolExecutor(2))
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(
                getattr(self, name.lower()),
                request_deserializer=getattr(messages, f"{name}Request").FromString,
                response_serializer=getattr(messages, f"{name}Response").SerializeToString,
            )
            for name in ("Status", "Encrypt", "Decrypt")
        }
        self.server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler("v2.KeyManagementService", handlers)]
        )
        self.server.add_insecure_port(self.endpoint)
        self.server.start()

    def stop(self):
        self.server.stop(None).wait()

    def status(self, _request, _context):
        return messages.StatusResponse(version="v2", healthz=self.health, key_id=self.key_id)

    def encrypt(self, request, _context):
        self.calls.append("encrypt")
        return messages.EncryptResponse(
            ciphertext=request.plaintext[::-1], key_id=self.key_id, annotations={"a.example": b"1"}
        )

    def decrypt(self, request, context):
        self.calls.append("decrypt")
        if not request.key_id.startswith("key-") or request.annotations["a.example"] != b"1":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such key")
        return messages.DecryptResponse(plaintext=request.ciphertext[::-1])
