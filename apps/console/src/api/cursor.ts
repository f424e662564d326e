import { infiniteQueryOptions } from '@tanstack/react-query';

/** A page of a listing. */
export interface Listed<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
}

/** Rows a listing asks for at once: the most that the API gives. */
export const PAGE_ROWS = 100;
/** Live pages ask again after this time. Nothing asks more often. */
export const LIVE_MS = 5_000;

/**
 * A listing that continues after the id of its last row. `isLive` asks again for all loaded pages every 5 s: not for
 * people's data, because each reading is an entry of the audit log.
 */
export function listing<T extends { readonly id: string }>(
  queryKey: readonly unknown[],
  read: (page: { readonly limit: number; readonly startingAfter?: string }, signal: AbortSignal) => Promise<Listed<T>>,
  isLive = false,
) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      read(pageParam === '' ? { limit: PAGE_ROWS } : { limit: PAGE_ROWS, startingAfter: pageParam }, signal),
    getNextPageParam: ({ data, hasMore }: Listed<T>) => (hasMore ? data.at(-1)?.id : undefined),
    ...(isLive ? { refetchInterval: LIVE_MS } : {}),
  });
}
