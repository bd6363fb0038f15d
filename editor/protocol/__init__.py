"""Browser <-> server vocabulary: websocket messages, offset translation, TypeScript export."""
