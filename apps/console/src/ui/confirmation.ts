import { createContext, useContext } from 'react';
import { ApiError } from '../api/client.js';

/** Asks the person to confirm the session, and resolves to whether it is confirmed now. Outside an account nobody is asked. */
type AskToConfirm = () => Promise<boolean>;

export const ConfirmationContext = createContext<AskToConfirm>(() => Promise.resolve(false));

export const useConfirmation = (): AskToConfirm => useContext(ConfirmationContext);

/** Whether the server refused an act because the session is not confirmed. */
export const isUnconfirmed = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'CONFIRMATION_REQUIRED';
