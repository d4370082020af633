import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort, type Scope } from '@packhouse/local';
import { startChild } from './child.js';

/** A folder to serve, or an address to pass all requests to, over persistent connections. */
type NginxTask = { root: string } | { upstream: string };

/** Starts nginx on a free port, as packages configure it (sendfile, no log). */
export async function startNginx(
  scope: Scope,
  program: string,
  parts: { directory: string; workers: number } & NginxTask,
): Promise<{ url: string; pid: number }> {
  const home = path.join(parts.directory, `nginx-${parts.workers}`);
  await mkdir(home, { recursive: true });
  const port = await freePort();
  const file = path.join(home, 'nginx.conf');
  await writeFile(file, configuration({ ...parts, home, port }));
  const child = startChild(scope, program, ['-p', home, '-c', file, '-e', path.join(home, 'error.log')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await answering(url);
  return { url, pid: child.pid as number };
}

function configuration(parts: { home: string; port: number; workers: number } & NginxTask): string {
  const upstream = 'upstream' in parts ? new URL(parts.upstream).host : undefined;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${parts.home}/${name};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `
${user}
daemon off;
worker_processes ${parts.workers};
pid ${parts.home}/nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  types { application/gzip gz; }
${temporary.join('\n')}
${upstream === undefined ? '' : `  upstream node { server ${upstream}; keepalive 128; keepalive_requests 1000000000; }`}
  server {
    listen 127.0.0.1:${parts.port};
    location / { ${'root' in parts ? `root ${parts.root};` : PASS_ON} }
  }
}
`;
}

/** Keeps connections to the proxied server open, which is not nginx's default. */
const PASS_ON = 'proxy_pass http://node; proxy_http_version 1.1; proxy_set_header Connection "";';

const ANSWER_MS = 10_000;

async function answering(url: string): Promise<void> {
  const until = Date.now() + ANSWER_MS;
  for (;;) {
    const answered = await fetch(url).then(
      (response) => response.arrayBuffer().then(() => true),
      () => false,
    );
    if (answered) return;
    if (Date.now() > until) throw new Error('nginx does not answer');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
