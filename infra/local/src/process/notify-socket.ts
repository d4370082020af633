import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What services send to systemd, heard in its place. */
export interface NotifySocket {
  /** All messages so far, a line each, such as `READY=1`. */
  messages(): string;
  close(): void;
}

// What descriptors come with a message are closed, which is what systemd-notify waits for.
const LISTEN = `$| = 1; my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die $!;
  chmod 0777, $ARGV[0]; print "bound\\n"; while (1) { $s->recv(my $text, 4096); print "$text\\n"; }`;

/** Listens at this path, a service's NOTIFY_SOCKET, by Perl: Node has no datagram sockets of Unix. */
export async function listenToNotify(socket: string): Promise<NotifySocket> {
  const listener = spawn('perl', ['-MIO::Socket::UNIX', '-e', LISTEN, socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let messages = '';
  listener.stdout.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  // It is bound, or it has ended and said why.
  await Promise.race([once(listener.stdout, 'data'), once(listener, 'close')]);
  if (!messages.startsWith('bound\n')) throw new Error(`perl cannot listen at ${socket}`);
  messages = messages.slice('bound\n'.length);
  return { messages: () => messages, close: () => void listener.kill('SIGKILL') };
}
