import type { ComponentChildren } from 'preact';

/** A number with its title and a second line. */
export const Figure = (given: {
  title: string;
  note?: ComponentChildren;
  tone?: 'wait' | 'bad' | undefined;
  children: ComponentChildren;
}) => (
  <div>
    <dt>{given.title}</dt>
    <dd class={given.tone}>
      {given.children}
      {given.note !== undefined && <small>{given.note}</small>}
    </dd>
  </div>
);
