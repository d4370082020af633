/** How the nodes of a network spell a method: `core_getLogs` is `cfx_getLogs` to them, as `rpc.aliases` says. */
export function nodeMethod(name: string, aliases: Readonly<Record<string, string>>): string {
  for (const [ours, theirs] of Object.entries(aliases)) {
    if (name.startsWith(ours)) return theirs + name.slice(ours.length);
  }
  return name;
}
