import type { ComponentChildren } from 'preact';
import { Icon } from '../../parts/icon.js';

/** A step of several; one that is neither done nor the next is closed. */
export function Step(given: { title: string; done: boolean; current: boolean; children: ComponentChildren }) {
  const { title, done, current, children } = given;
  return (
    <li
      class={`finding ${done ? 'good' : current ? 'wait' : ''}`}
      aria-current={current ? 'step' : undefined}
    >
      <Icon name={done ? 'good' : current ? 'next' : 'info'} />
      <div>
        <details open={current}>
          <summary>
            <strong>{title}</strong> <span class="faint">{done ? 'done' : current ? 'next' : 'later'}</span>
          </summary>
          {children}
        </details>
      </div>
    </li>
  );
}
