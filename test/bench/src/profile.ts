interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
}

/** A CPU profile as V8 writes it (Chrome DevTools Protocol, Profiler.Profile), as far as it is read. */
export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: CallFrame;
    children?: number[];
  }[];
  samples: number[];
  /** Microseconds before each sample. */
  timeDeltas: number[];
}

/** A function with its callers, and the time in all of it. */
export interface Frame {
  name: string;
  ms: number;
  children: Map<string, Frame>;
}

/** The time of one or more profiles, in milliseconds; waiting, also for a core, is left out. */
export interface Shares {
  ms: number;
  /** By room: a package, an app, a dependency, Node, V8. A function of Node or V8 counts for the room that calls it. */
  rooms: Map<string, number>;
  /** By function alone, as `name room:line`. */
  functions: Map<string, number>;
  root: Frame;
}

/** A longer time between two samples, of which there is one in half a millisecond, was spent waiting for a core. */
const MAX_MS = 2;
const IDLE = '(idle)';
/** What V8 does on its own is nobody's: a caller stands over it only by chance. */
const V8 = new Set(['(garbage collector)', '(program)']);

/** Adds up where the time of some profiles went. */
export function toShares(profiles: readonly CpuProfile[]): Shares {
  const shares: Shares = { ms: 0, rooms: new Map(), functions: new Map(), root: frame('all') };
  for (const profile of profiles) addProfile(shares, profile);
  return shares;
}

function addProfile(shares: Shares, { nodes, samples, timeDeltas }: CpuProfile): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const self = new Map<number, number>();
  for (const [at, id] of samples.entries()) {
    self.set(id, (self.get(id) ?? 0) + Math.min(MAX_MS, (timeDeltas[at] ?? 0) / 1000));
  }
  for (const [id, ms] of self) {
    const stack: CallFrame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = byId.get(at);
      if (node !== undefined && node.callFrame.functionName !== '(root)') stack.push(node.callFrame);
    }
    const [top] = stack;
    if (top === undefined || top.functionName === IDLE) continue;
    const room = roomOfStack(stack);
    if (room === undefined) continue;
    shares.ms += ms;
    add(shares.rooms, room, ms);
    add(shares.functions, toName(top), ms);
    shares.root.ms += ms;
    let at = shares.root;
    for (const call of stack.reverse()) {
      const name = toName(call);
      const child = at.children.get(name) ?? frame(name);
      at.children.set(name, child);
      child.ms += ms;
      at = child;
    }
  }
}

/** The room of a function, given with its callers; undefined for the profiler's own. */
function roomOfStack(stack: readonly CallFrame[]): string | undefined {
  const own = (stack[0] as CallFrame).functionName;
  if (V8.has(own)) return own;
  if (stack.some(({ url }) => url.includes('/profile-hook.js'))) return undefined;
  const caller = stack.find(({ url }) => getRoom(url) !== undefined);
  if (caller !== undefined) return getRoom(caller.url);
  return stack.some(({ url }) => url.startsWith('node:internal/modules/'))
    ? 'loading modules'
    : 'Node itself';
}

function frame(name: string): Frame {
  return { name, ms: 0, children: new Map() };
}

function add(sums: Map<string, number>, name: string, ms: number): void {
  sums.set(name, (sums.get(name) ?? 0) + ms);
}

/** packages/chain, apps/packer, node_modules/pg; undefined for Node and V8. */
function getRoom(url: string): string | undefined {
  const [dependency] = /node_modules\/(?:@[^/]+\/)?[^/]+(?!.*node_modules\/)/.exec(url) ?? [];
  return dependency ?? /(?:packages|apps|infra|test)\/[^/]+(?=\/dist\/)/.exec(url)?.[0];
}

function toName({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const room = getRoom(url);
  const file = room === undefined ? url : url.slice(url.lastIndexOf(room)).replace('/dist/', '/');
  return `${name} ${file}:${lineNumber + 1}`;
}
