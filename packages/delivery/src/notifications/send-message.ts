import type { ChannelWork, PendingMessage } from '@packhouse/database';
import type { Mail } from '@packhouse/outbound';
import { openText, sealText } from '@packhouse/runtime';
import { createMessagePost, isAccepted, type PostParts, toReason } from '../outbox/post-message.js';
import type { Text } from './compose.js';

const PURPOSE = 'notification address';

/** Encrypts the address of a channel, which may be a secret of its receiver, by the key of the installation. */
export function sealAddress(seal: Buffer, address: string): Buffer {
  return sealText(seal, PURPOSE, address);
}

export interface MessageParts extends PostParts {
  /** Null: this packer has no SMTP server. */
  mail: Mail | null;
}

/** How a try ended. `error`: why it was not accepted, or what was wrong all the same, in one sentence. */
interface Outcome {
  accepted: boolean;
  error: string | null;
}

type Receiver = Pick<ChannelWork, 'id' | 'kind' | 'recipients' | 'address' | 'salt' | 'oldSalt'>;
type Message = Pick<PendingMessage, 'id' | 'body'>;

/** Creates what sends a message to a channel. Rejects only if the signal is aborted. */
export function createMessageSender(parts: MessageParts) {
  const { context, mail, seal } = parts;
  const post = createMessagePost(parts);
  const ended = context.metrics.counter(
    'packhouse_notifications_total',
    'Tries of messages to channels of notifications by how they ended',
    ['kind', 'outcome'],
  );

  const sendMail = async (
    { recipients }: Receiver,
    { id, body }: Message,
    signal: AbortSignal,
  ): Promise<Outcome> => {
    if (mail === null) return refuse('The packers have no SMTP server: set SMTP_URL and SMTP_FROM.');
    const { subject, lines } = JSON.parse(body) as Text;
    const outcome = await mail({ id, to: recipients, subject, text: lines.join('\n') }, signal);
    if (!('refused' in outcome)) return refuse(outcome.reason);
    if (outcome.refused === 0) return ACCEPTED;
    return {
      accepted: true,
      error: `The server refused ${outcome.refused} of ${recipients.length} recipients.`,
    };
  };

  const sendPost = async (channel: Receiver, message: Message, signal: AbortSignal): Promise<Outcome> => {
    const { address, kind } = channel;
    const url = address === null ? null : openText(seal, PURPOSE, address);
    if (url === null)
      return refuse(
        'The address cannot be decrypted: packhouse.secret_seal has changed. Add the channel again.',
      );
    const outcome = await post(url, message, kind === 'webhook' ? channel : null, signal);
    return isAccepted(outcome) ? ACCEPTED : refuse(toReason(outcome));
  };

  return async (channel: Receiver, message: Message, signal: AbortSignal): Promise<Outcome> => {
    const send = channel.kind === 'email' ? sendMail : sendPost;
    const outcome = await send(channel, message, signal);
    ended.inc({ kind: channel.kind, outcome: outcome.accepted ? 'accepted' : 'failed' });
    return outcome;
  };
}

const ACCEPTED: Outcome = { accepted: true, error: null };

function refuse(error: string): Outcome {
  return { accepted: false, error };
}
