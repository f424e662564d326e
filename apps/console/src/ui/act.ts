import { useMutation, type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { isUnconfirmed, useConfirmation } from './confirmation.js';
import { useSay } from './toasts.js';

interface Act<A, T> {
  readonly run: (argument: A) => Promise<T>;
  /** The result, in a sentence. */
  readonly done: (result: T, argument: A) => string;
  /** The data that the act changes, besides the audit log. */
  readonly changes?: readonly unknown[];
}

/**
 * An act of a page: says its result or its failure, and reads what it has changed again. One that needs a confirmed session asks
 * for the confirmation, and is then done.
 */
export function useAct<A, T>({ run, done, changes }: Act<A, T>): UseMutationResult<T, Error, A> {
  const say = useSay();
  const client = useQueryClient();
  // Each act has an entry in the audit log.
  const readAgain = (): Promise<unknown> =>
    Promise.all(
      [['audit'], ...(changes === undefined ? [] : [changes])].map((queryKey) =>
        client.invalidateQueries({ queryKey }),
      ),
    );
  const confirm = useConfirmation();
  const runConfirmed = async (argument: A): Promise<T> => {
    try {
      return await run(argument);
    } catch (error) {
      if (!isUnconfirmed(error) || !(await confirm())) throw error;
      return run(argument);
    }
  };
  return useMutation({
    mutationFn: runConfirmed,
    onSuccess: (result, argument) => {
      say(done(result, argument));
      return readAgain();
    },
    onError: (error) => {
      say(error.message, 'bad');
      // A part of it may be done, and another engineer may have been faster.
      return readAgain();
    },
  });
}
