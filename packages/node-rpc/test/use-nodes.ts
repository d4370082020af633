import { afterEach } from 'vitest';
import { type Handler, type ScriptedNode, startScriptedNode } from './scripted-node.js';
import { testSource } from './test-source.js';

/** Nodes and sources of one test, closed after it. */
interface UseNodes {
  node(handler: Handler): Promise<ScriptedNode>;
  source: typeof testSource;
}

/** Registers the closing of whatever a test opens. */
export function useNodes(): UseNodes {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return {
    node: async (handler) => {
      const node = await startScriptedNode(handler);
      closers.push(() => node.close());
      return node;
    },
    source: (upstreams, options) => {
      const made = testSource(upstreams, options);
      closers.push(() => made.source.close());
      return made;
    },
  };
}
