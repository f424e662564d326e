import { useMutation, type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { useSay } from './toasts.js';

interface Act<A, T> {
  readonly run: (argument: A) => Promise<T>;
  /** The result, in a sentence. */
  readonly done: (result: T, argument: A) => string;
  /** The data that the act changes. */
  readonly changes: readonly unknown[];
}

/** An act of a page: says its result or its failure, and reads what it has changed again. */
export function useAct<A, T>({ run, done, changes }: Act<A, T>): UseMutationResult<T, Error, A> {
  const say = useSay();
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: (result, argument) => {
      say(done(result, argument));
      return client.invalidateQueries({ queryKey: changes });
    },
    onError: (error) => {
      say(error.message, 'bad');
      // A part of it may be done, and another engineer may have been faster.
      return client.invalidateQueries({ queryKey: changes });
    },
  });
}
