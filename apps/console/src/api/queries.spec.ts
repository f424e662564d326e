import { onlineManager, QueryClient } from '@tanstack/react-query';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from './client.js';
import { createQueries, isUnavailable } from './queries.js';

describe('the queries of the console', () => {
  afterEach(() => {
    onlineManager.setOnline(true);
    vi.useRealTimers();
  });

  it('ask the server while the browser says that it is offline', async () => {
    const client = createQueries(() => undefined);
    onlineManager.setOnline(false);
    const answered = client.query({ queryKey: ['a'], queryFn: () => Promise.resolve('answered') });
    expect(client.getQueryState(['a'])?.fetchStatus).toBe('fetching');
    expect(await answered).toBe('answered');
    const paused = new QueryClient();
    void paused.query({ queryKey: ['a'], queryFn: () => Promise.resolve('answered') });
    expect(paused.getQueryState(['a'])?.fetchStatus).toBe('paused');
  });

  it('ask twice more when the server is not ready, then fail; a refusal is final', async () => {
    vi.useFakeTimers();
    const client = createQueries(() => undefined);
    const callsUntilFailure = async (status: number): Promise<number> => {
      const queryFn = vi.fn(() => Promise.reject(new ApiError(status, 'X', 'refused')));
      const failed = expect(client.query({ queryKey: [status], queryFn })).rejects.toThrow('refused');
      await vi.advanceTimersByTimeAsync(10_000);
      await failed;
      return queryFn.mock.calls.length;
    };
    expect([await callsUntilFailure(503), await callsUntilFailure(0), await callsUntilFailure(403)]).toEqual([3, 3, 1]);
  });

  it('tell a server that is away from one that refuses, and from a fault of the page', () => {
    const errors = [
      new ApiError(0, 'NO_ANSWER', ''),
      new ApiError(503, 'X', ''),
      new ApiError(404, 'X', ''),
      new Error(),
    ];
    expect(errors.map(isUnavailable)).toEqual([true, true, false, false]);
  });
});
