import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

export type Tone = 'good' | 'wait' | 'bad' | 'info' | 'off';

/** A state: its colour, an icon of its own shape, and a word. */
export const Chip = ({
  tone,
  icon = tone,
  children,
}: {
  tone: Tone;
  icon?: IconName;
  children: ComponentChildren;
}) => (
  <span class={`chip ${tone}`}>
    <Icon name={icon} />
    {children}
  </span>
);
