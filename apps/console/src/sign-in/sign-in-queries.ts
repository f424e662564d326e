import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { api, ApiError, dataOf, type Schemas } from '../api/client.js';
import { keep, type Me, meQuery } from '../api/session.js';
import { nextPage } from './next-page.js';

/** A verification that this browser has begun, and that the phone approves. */
export type Approval = Schemas['PhoneSignInAnswer'];
export type SecondStep = Schemas['SecondStepAnswer'];
/** The path of the calls of such a verification. */
export type ApprovalPath = '/sign-in/phone' | '/sign-in/second-step';

const POLL_MS = 1_500;

export const waysQuery = queryOptions({
  queryKey: ['sign-in', 'ways'],
  staleTime: 60_000,
  queryFn: () => dataOf(api.GET('/sign-in/ways')),
});

/** The second step that this browser has before it; null without one. */
export const secondStepQuery = queryOptions({
  queryKey: ['sign-in', 'second-step'],
  staleTime: Infinity,
  queryFn: async (): Promise<SecondStep | null> =>
    (await orOver(dataOf(api.GET('/sign-in/second-step'))))?.secondStep ?? null,
});

/** `over`: expired, used up, or not approved by the phone of a member. */
export type ApprovalState = { readonly kind: 'pending' | 'over' } | { readonly kind: 'approved'; readonly me: Me };

/** Asks until the phone has approved; the answer that says so has the session. */
export const approvalQuery = (path: ApprovalPath, link: string) =>
  queryOptions({
    queryKey: ['sign-in', path, link],
    gcTime: 0,
    refetchInterval: ({ state }) => (state.data === undefined || state.data.kind === 'pending' ? POLL_MS : false),
    queryFn: async (): Promise<ApprovalState> => {
      const answer = await orOver(dataOf(api.GET(path)));
      if (answer === null) return { kind: 'over' };
      return answer.me === undefined ? { kind: 'pending' } : { kind: 'approved', me: answer.me };
    },
  });

/** Throws ApiError: UNAUTHORIZED for a key that is not valid. */
export const signInWithKey = (key: string): Promise<Me | SecondStep> =>
  dataOf(api.POST('/sign-in/key', { body: { key } }));

export const beginWithPhone = (phone: string): Promise<Approval> =>
  dataOf(api.POST('/sign-in/phone', { body: { phone } }));

export const sendCode = (path: ApprovalPath): Promise<unknown> => dataOf(api.POST(`${path}/send-code`));

export const checkCode = (path: ApprovalPath, code: string): Promise<Me> =>
  dataOf(api.POST(`${path}/check`, { body: { code } }));

/** Keeps the new session, and opens the page that asked for it. */
export function useOpened(): (me: Me) => void {
  const { next } = useSearch({ from: '/sign-in' });
  const client = useQueryClient();
  const navigate = useNavigate();
  return (me) => {
    client.setQueryData(meQuery.queryKey, keep(me));
    void navigate({ href: nextPage(next, location.origin) });
  };
}

async function orOver<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}
