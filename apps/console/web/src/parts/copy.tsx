import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** Text to copy, with a button; if the browser refuses, the text is selected. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [status, setStatus] = useState('');
  const copy = async (event: MouseEvent): Promise<void> => {
    const code = (event.currentTarget as HTMLElement).previousElementSibling;
    try {
      await navigator.clipboard.writeText(text);
      setStatus('Copied.');
    } catch {
      if (code !== null) getSelection()?.selectAllChildren(code);
      setStatus('Selected: press Ctrl-C.');
    }
  };
  return (
    <div class="copy">
      <pre>{text}</pre>
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        Copy
      </button>
      <span role="status">{status}</span>
    </div>
  );
}

/** A secret that was just made, until it is put away: it is in no later answer. */
export const ShownOnce = (given: {
  text: string;
  /** What it is, after "Copy". */
  label: string;
  done: () => void;
  /** Whose it is, as a sentence. */
  children: ComponentChildren;
}) => (
  <div class="card">
    <p>
      {given.children} <strong>Copy it now: it is shown only once.</strong>
    </p>
    <Copy text={given.text} label={given.label} />
    <button type="button" onClick={given.done}>
      Done
    </button>
  </div>
);
