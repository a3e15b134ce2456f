/** The headers of the lab's page, with which it has shared memory. */
import { ISOLATED } from '@taketurns/static-server';

export const HEADERS = { ...ISOLATED, 'Cross-Origin-Resource-Policy': 'same-origin' };
