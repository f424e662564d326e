import { useSuspenseQuery } from '@tanstack/react-query';
import { isAtLeast, meQuery } from '../api/session.js';

/** Whether the holder of the session has at least that role. The server decides; this only hides what it would refuse. */
export function useIsAtLeast(least: Parameters<typeof isAtLeast>[1]): boolean {
  const { data: me } = useSuspenseQuery(meQuery);
  return me !== null && isAtLeast(me.role, least);
}
