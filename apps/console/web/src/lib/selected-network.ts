import { useEffect, useState } from 'preact/hooks';
import { createStored } from './storage.js';

const stored = createStored('packhouse.network', () => sessionStorage);
const listeners = new Set<() => void>();
let selected: string | undefined = stored.read() ?? undefined;

/** Selects the network that screens show; undefined: all. It holds for this tab of the browser. */
export function selectNetwork(network: string | undefined): void {
  selected = network;
  stored.write(network ?? null);
  for (const listener of listeners) listener();
}

/** The network that was selected; undefined: all. */
export function useSelectedNetwork(): string | undefined {
  const [network, set] = useState(selected);
  useEffect(() => {
    const listener = (): void => set(selected);
    listener();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return network;
}
