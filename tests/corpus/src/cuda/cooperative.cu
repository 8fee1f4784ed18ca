// Cooperative groups, with NVIDIA's own header inlined.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void tile_reduce(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int v = in[block.thread_rank()];
    for (int d = tile.size() / 2; d; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) out[block.thread_rank() / 8] = v;
    block.sync();
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(out, active.size());
}

__global__ void grid_sync(volatile int *data, int rounds) {
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        data[grid.thread_rank()] += r;
        grid.sync();
    }
}
