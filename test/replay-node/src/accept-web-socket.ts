import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** The server's end of a WebSocket connection (RFC 6455), as far as a node needs it: texts, pings and closing. */
export interface WebSocketEnd {
  send(text: string): void;
  /** Ends the connection without a word. */
  destroy(): void;
}

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const [TEXT, CLOSE, PING, PONG] = [0x1, 0x8, 0x9, 0xa] as const;

/** Answers an upgrade request; `hear` gets every text, `closed` is told of the end. Messages are not cut into pieces. */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  { hear, closed }: { hear: (text: string) => void; closed: () => void },
): WebSocketEnd {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}${MAGIC}`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  const write = (opcode: number, payload: Buffer): void => {
    if (!socket.writable) return;
    const { length } = payload;
    const head =
      length < 126
        ? Buffer.from([0x80 | opcode, length])
        : Buffer.from([0x80 | opcode, 127, ...long(length)]);
    socket.write(Buffer.concat([head, payload]));
  };
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let frame = readFrame(rest); frame !== null; frame = readFrame(rest)) {
      rest = rest.subarray(frame.end);
      if (frame.opcode === TEXT) hear(frame.payload.toString('utf8'));
      else if (frame.opcode === PING) write(PONG, frame.payload);
      else if (frame.opcode === CLOSE) {
        write(CLOSE, frame.payload);
        socket.end();
      }
    }
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', closed);
  return {
    send: (text) => write(TEXT, Buffer.from(text)),
    destroy: () => socket.destroy(),
  };
}

function long(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
}

/** The first whole frame of a client, which masks its payload; null if it is not all there yet. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | null {
  if (bytes.length < 2) return null;
  const short = (bytes[1] as number) & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + extra + 4;
  if (bytes.length < start) return null;
  const length = extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < start + length) return null;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + length));
  for (let i = 0; i < length; i += 1) payload[i] = (payload[i] as number) ^ (mask[i % 4] as number);
  return { opcode: (bytes[0] as number) & 0x0f, payload, end: start + length };
}
