import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from '../api.js';

/** The session of the page; null: not signed in. */
export const SessionContext = createContext<Session | null>(null);

const useRole = () => useContext(SessionContext)?.role;

/** Whether the one who signed in may change what is shown: owners see only what is theirs. */
export function useMayChange(): boolean {
  const isOwner = useIsOwner();
  return useIsOperator() || isOwner;
}

/** Whether he has at least the role operator. */
export function useIsOperator(): boolean {
  const role = useRole();
  return role === 'operator' || role === 'admin';
}

/** Whether it is an account that sees its applications only. */
export function useIsOwner(): boolean {
  const session = useContext(SessionContext);
  return session?.role === 'owner' && !session.isKey;
}

export const useIsAdmin = (): boolean => useRole() === 'admin';
