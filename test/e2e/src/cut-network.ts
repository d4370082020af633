import { execFileSync } from 'node:child_process';

/** Which packets of the machine behind the router are thrown away, seen from it. */
export type Cut = 'both' | 'sent' | 'received';

/** A machine of its own (a network namespace) behind a router that can throw packets away without a word. */
export interface CutNetwork {
  /** The address of this machine, as the other one sees it. */
  host: string;
  /** The address of the other one. */
  far: string;
  /** The command before a program that runs on the other machine. */
  within: readonly string[];
  /** `port`: only what goes to, or comes from, this port of this machine. */
  cut(what: Cut, port?: number): void;
  /** Loses this share of the packets, either way. Returns false if the kernel cannot. */
  lose(share: number): boolean;
  heal(): void;
  remove(): void;
}

const NET = '10.231';

/** Makes the network; a string: why it cannot be made here. */
export function makeCutNetwork(): CutNetwork | string {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'network namespaces need root on Linux';
  const id = `${process.pid % 100_000}`;
  const [router, machine] = [`packhouse-r${id}`, `packhouse-m${id}`];
  const third = process.pid % 250;
  const host = `${NET}.${third}.1`;
  const far = `${NET}.${third}.6`;
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const remove = (): void => {
    // The link first: that of a deleted namespace goes only later, and the next one has its name.
    for (const what of [
      ['link', 'del', `ph${id}`],
      ['netns', 'del', machine],
      ['netns', 'del', router],
    ]) {
      try {
        ip(...what);
      } catch {
        // It was not made.
      }
    }
  };
  try {
    ip('netns', 'add', router);
    ip('netns', 'add', machine);
    ip('link', 'add', `ph${id}`, 'type', 'veth', 'peer', 'name', 'near', 'netns', router);
    ip('-n', router, 'link', 'add', 'far', 'type', 'veth', 'peer', 'name', 'home', 'netns', machine);
    ip('addr', 'add', `${host}/30`, 'dev', `ph${id}`);
    ip('link', 'set', `ph${id}`, 'up');
    ip('-n', router, 'addr', 'add', `${NET}.${third}.2/30`, 'dev', 'near');
    ip('-n', router, 'addr', 'add', `${NET}.${third}.5/30`, 'dev', 'far');
    for (const link of ['near', 'far']) ip('-n', router, 'link', 'set', link, 'up');
    ip(
      'netns',
      'exec',
      router,
      'sh',
      '-c',
      'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter',
    );
    ip('-n', machine, 'addr', 'add', `${far}/30`, 'dev', 'home');
    for (const link of ['lo', 'home']) ip('-n', machine, 'link', 'set', link, 'up');
    ip('-n', machine, 'route', 'add', 'default', 'via', `${NET}.${third}.5`);
    ip('route', 'add', `${far}/32`, 'via', `${NET}.${third}.2`);
  } catch (error) {
    remove();
    return `network namespaces cannot be made: ${(error as Error).message.split('\n').at(-2) ?? error}`;
  }
  let undo: (() => void)[] = [];
  const drop = (direction: 'to' | 'from', port: 'dport' | 'sport', number?: number): void => {
    const ports = number === undefined ? [] : ['ipproto', 'tcp', port, String(number)];
    const rule = [direction, host, ...ports, 'blackhole'];
    ip('-n', router, 'rule', 'add', ...rule);
    undo.push(() => ip('-n', router, 'rule', 'del', ...rule));
  };
  return {
    host,
    far,
    within: ['ip', 'netns', 'exec', machine],
    cut: (what, port) => {
      if (what !== 'received') drop('to', 'dport', port);
      if (what !== 'sent') drop('from', 'sport', port);
    },
    lose: (share) => {
      const filter = (what: string): void => {
        const rule = ['FORWARD', '-m', 'statistic', '--mode', 'random', '--probability', String(share)];
        ip('netns', 'exec', router, 'iptables', what, ...rule, '-j', 'DROP');
      };
      try {
        filter('-A');
      } catch {
        return false;
      }
      undo.push(() => filter('-D'));
      return true;
    },
    heal: () => {
      for (const step of undo) step();
      undo = [];
    },
    remove,
  };
}
