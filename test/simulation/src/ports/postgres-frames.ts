/** One message of the Postgres protocol (version 3), whole; the type is '' for those without one. */
export interface Frame {
  type: string;
  bytes: Buffer;
}

/** Cuts a stream into messages, as they become whole. */
interface Framer {
  push(chunk: Buffer): Frame[];
}

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;

/**
 * The messages of one direction. A client's first ones (StartupMessage, SSLRequest, CancelRequest) have no type:
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export function createFramer(side: 'client' | 'server'): Framer {
  let rest: Buffer = Buffer.alloc(0);
  let typed = side === 'server';
  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const frames: Frame[] = [];
      for (;;) {
        const head = typed ? 5 : 4;
        if (rest.length < head) return frames;
        const length = rest.readInt32BE(head - 4) + (typed ? 1 : 0);
        if (rest.length < length) return frames;
        const bytes = rest.subarray(0, length);
        rest = rest.subarray(length);
        frames.push({ type: typed ? String.fromCharCode(bytes[0] as number) : '', bytes });
        // A client that asked for encryption is refused and starts again, still without a type.
        if (!typed) typed = ![SSL_REQUEST, GSS_REQUEST].includes(bytes.readInt32BE(4));
      }
    },
  };
}

/** A simple query, as a client sends it. */
export function queryMessage(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`);
  const message = Buffer.alloc(5 + text.length);
  message.write('Q', 0, 'latin1');
  message.writeInt32BE(4 + text.length, 1);
  text.copy(message, 5);
  return message;
}

/** The statement of a Query or Parse message; '' for others. */
export function getStatement({ type, bytes }: Frame): string {
  if (type === 'Q') return bytes.toString('utf8', 5, bytes.length - 1);
  if (type !== 'P') return '';
  const name = bytes.indexOf(0, 5);
  return bytes.toString('utf8', name + 1, bytes.indexOf(0, name + 1));
}
