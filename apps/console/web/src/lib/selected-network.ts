import { useEffect, useState } from 'preact/hooks';

const KEY = 'packhouse.network';
const listeners = new Set<() => void>();
let selected: string | undefined = readStored();

/** Selects the network that screens show; undefined: all. It holds for this tab of the browser. */
export function selectNetwork(network: string | undefined): void {
  selected = network;
  try {
    if (network === undefined) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, network);
  } catch {
    // Without storage it holds until the page is loaded again.
  }
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

function readStored(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
