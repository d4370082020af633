/*
 * Memory that is only added to. It begins anew with each text.
 */
const PAGE: usize = 65536;
/** Of all memory; a text that needs more is declined. */
const MAX_PAGES: i32 = 6144;

let next: usize = 0;

export function beginHeap(): void {
  next = (<usize>__heap_base + 15) & ~15;
}

/** Memory at the end of the heap, aligned to 16; 0 if there is no more. */
export function allocate(bytes: usize): usize {
  const start = next;
  const end = (start + bytes + 15) & ~15;
  const missing = <i32>((end + PAGE - 1) / PAGE) - memory.size();
  if (missing > 0 && (memory.size() + missing > MAX_PAGES || memory.grow(missing) < 0)) return 0;
  next = end;
  return start;
}
