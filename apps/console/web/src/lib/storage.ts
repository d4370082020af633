/** One text that this browser keeps under a key; nothing if it refuses to keep any. */
export function createStored(key: string, getStorage: () => Storage = () => localStorage) {
  return {
    read(): string | null {
      try {
        return getStorage().getItem(key);
      } catch {
        return null;
      }
    },
    /** null removes it. */
    write(text: string | null): void {
      try {
        if (text === null) getStorage().removeItem(key);
        else getStorage().setItem(key, text);
      } catch {
        // It holds until the page is closed.
      }
    },
  };
}
