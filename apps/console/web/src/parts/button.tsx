import type { ComponentProps } from 'preact';

/** A button. While what it began runs (`busy`) it does nothing, and keeps the focus, which a disabled one would lose. */
export const Button = ({ busy = false, onClick, ...rest }: ComponentProps<'button'> & { busy?: boolean }) => (
  <button
    type="button"
    {...rest}
    aria-disabled={busy ? true : undefined}
    onClick={(event) => {
      if (busy) event.preventDefault();
      else onClick?.(event);
    }}
  />
);
