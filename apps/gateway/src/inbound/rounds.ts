/**
 * Splits evidence into rounds in which no token occurs twice, in order of arrival: the second message with a token
 * must see what the first one did. The batcher keeps whole tokens apart already; this is for the tokens that only
 * the joined parts of a long message show.
 */
export function roundsOf<Evidence>(
  evidence: readonly Evidence[],
  keysOf: (each: Evidence) => readonly string[],
): Evidence[][] {
  const rounds: Evidence[][] = [];
  const nextRoundOf = new Map<string, number>();
  for (const each of evidence) {
    const keys = keysOf(each);
    const round = Math.max(0, ...keys.map((key) => nextRoundOf.get(key) ?? 0));
    for (const key of keys) nextRoundOf.set(key, round + 1);
    (rounds[round] ??= []).push(each);
  }
  return rounds;
}
