/** What a networks file would say of the demo chain. */
export const demoNetwork = {
  id: 'demo',
  chainId: 31_337,
  /** The demo chain's node knows the `finalized` tag: two blocks behind the head. */
  finality: { tag: true, depth: 2 },
} as const;
