/** Keeps a map within its bound after an addition: removes the entry that was set first. */
export function forgetOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
