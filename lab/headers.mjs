/** The headers that the lab's page needs to have shared memory. */
import { ISOLATED } from '@taketurns/static-server';

export const HEADERS = { ...ISOLATED, 'Cross-Origin-Resource-Policy': 'same-origin' };
