//! The modifiers of PTX: what may stand between the dots of an opcode besides types.
//!
//! Any other modifier is accepted with a warning, since a newer version may have it. The list has every modifier that
//! the assembler of CUDA 13.5 takes in some instruction, except the words in the names of rows (`mul.wide`,
//! `cp.async.bulk`).

use super::types::TypeWord;
use super::{modifiers, rows, same};
use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroU16;
use std::sync::LazyLock;

const MODIFIERS: &str = "\
    alloc_class_large b1024 b4x16_p64 b6x16_p32 block_scale c cvt d l mask p to 128x128b 128x256b 16x128b \
    16x256b 16x32bx2 16x64b 1d 2d 2dms 32x128b 32x32b 3d 4d 4x256b 5d 62x128b 64x128b L1 L2 NaN a a1d a2d abs \
    acq_rel acquire add addr_mode_0 addr_mode_1 addr_mode_2 alias aligned all alloc and any approx array_size \
    arrive arrive_drop async b b4e ballot bar base bfly block16 box_dim box_dim_size bulk bulk_group ca cas cc \
    cg channel_data_type channel_order check_layout clamp cluster col collector commit commit_group \
    complete_tx const cp cp_fenceproxy cp_mask cs cta cube cv dc dealloc dec depth down ecl ecr element_stride \
    elemtype entry eq equ evict_first evict_last evict_normal evict_unchanged exch exclusive expect_tx f4e \
    fabric fence fill_mode filter_mode finite force_array_size fractional ftz full g ge generic get \
    get_first_ctaid geu gl global global_address global_dim global_stride gpu grad gt gtu height hi hs idx \
    ignore_oob im2col im2col_no_offs inc infinite init interleave_layout inval is_canceled launch_dependents \
    ld ld_reduce le leu level lo load local ls lt ltu lu max mbarrier mbarrier_init memory_layout min \
    mipmap_levels mma mma_async mmio mode multimem nan nc ne neu noComplete no_allocate noftz noinc normal \
    normalized_coords notanumber num num_mipmap_levels num_samples number oob op or ordered_metadata pack \
    param parity pending_count pipe po popc pred prefetch primary proxy ptr query query_cancel r range rank \
    rc16 rc8 read red reduce relaxed release relinquish_alloc_permit relu replace rgba rm rmi rn rna rni row \
    rp rpi rs rz rzi samplerref sat satfinite sc scale shared shift shiftamt shr shr15 shr7 sp spcompress st \
    store submit subnormal surfref swizzle_atomicity swizzle_mode sync sys tensor tensormap test_wait tex \
    texmode texref tile trans trap try_atom try_cancel try_get try_pullred try_put try_red try_wait uni \
    unified unit up v2 v4 v8 valid_addr volatile wait wait_all wait_group warp warpx4 wb weak wide width wrap \
    ws wt x xor xorsign y z zero";

/// The words of the list, one by one.
static OTHERS: [&str; OTHER] = {
    let mut words = [""; OTHER];
    let (mut rest, mut at) = (MODIFIERS, 0);
    while at < OTHER {
        let (word, after) = first_word(rest);
        words[at] = word;
        (rest, at) = (after, at + 1);
    }
    words
};

/// How many there are.
const OTHER: usize = {
    let (mut rest, mut count) = (MODIFIERS, 0);
    while !rest.is_empty() {
        rest = first_word(rest).1;
        count += 1;
    }
    count
};

/// The first of words separated by one blank, and the others.
const fn first_word(words: &'static str) -> (&'static str, &'static str) {
    let mut end = 0;
    while end < words.len() && words.as_bytes()[end] != b' ' {
        end += 1;
    }
    let (word, rest) = words.split_at(end);
    (word, if rest.is_empty() { rest } else { rest.split_at(1).1 })
}

/// A modifier, by its number: that of a type, or the place in the list after them; from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Modifier(NonZeroU16);

impl Modifier {
    /// The bits that a number has.
    pub(super) const BITS: u32 = 9;

    /// Any one, to fill a place.
    pub(super) const ANY: Self = Self(NonZeroU16::MIN);

    pub(super) const fn number(self) -> u16 {
        self.0.get()
    }

    /// The modifier whose number is in the lowest bits; `None` for no number.
    pub(super) const fn numbered(bits: u64) -> Option<Self> {
        match NonZeroU16::new((bits & ((1 << Self::BITS) - 1)) as u16) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    const fn at(place: usize) -> Self {
        match Self::numbered(place as u64 + 1) {
            Some(modifier) if modifier.number() as usize == place + 1 => modifier,
            _ => panic!("a number of a modifier has fewer bits"),
        }
    }

    /// The modifier with this spelling; for constants, which do not compile if there is none.
    pub(super) const fn named(word: &str) -> Self {
        let mut place = 0;
        while place < TypeWord::COUNT + OTHER {
            if same(Self::at(place).word(), word) {
                return Self::at(place);
            }
            place += 1;
        }
        panic!("there is no such modifier")
    }

    /// The modifier that a word without its dot spells.
    #[must_use]
    pub fn parse(word: &[u8]) -> Option<Self> {
        static BY_WORD: LazyLock<HashMap<&'static [u8], Modifier>> = LazyLock::new(|| {
            let all = (0..TypeWord::COUNT + OTHER).rev().map(Modifier::at);
            all.map(|modifier| (modifier.word().as_bytes(), modifier)).collect()
        });
        BY_WORD.get(word).copied()
    }

    /// How it is spelled, without a dot.
    #[must_use]
    pub const fn word(self) -> &'static str {
        let place = self.0.get() as usize - 1;
        match TypeWord::numbered(place) {
            Some(ty) => ty.word(),
            None => OTHERS[place - TypeWord::COUNT],
        }
    }

    /// The type that it is.
    #[must_use]
    pub const fn ty(self) -> Option<TypeWord> {
        TypeWord::numbered(self.0.get() as usize - 1)
    }
}

impl std::fmt::Debug for Modifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

static KNOWN: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let named = rows().flat_map(|row| row.name.split('.').skip(1));
    let formed = rows().flat_map(|row| row.forms).flat_map(|form| form.modifiers.split(' '));
    OTHERS.into_iter().chain(named).chain(formed).chain(TypeWord::all().map(TypeWord::word)).collect()
});

/// All modifiers, types among them, by their spelling.
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().copied()
}

/// Whether some instruction has the modifier. Of a qualified one, `L2::cache_hint`, the first word counts; shapes of
/// matrices and numbers of repeats, `m16n8k16` and `x4`, are too many to list.
pub(crate) fn is_known(modifier: &[u8]) -> bool {
    let Ok(word) = std::str::from_utf8(modifier) else { return false };
    let stem = word.split(':').next().unwrap_or(word);
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let matrix = || {
        let (m, rest) = stem.strip_prefix('m')?.split_once('n')?;
        Some(plain(m) && rest.split('k').all(plain))
    };
    stem != word
        || KNOWN.contains(stem)
        || stem.strip_prefix('x').is_some_and(plain)
        || matrix().unwrap_or(false)
}

/// The first modifier of an opcode that no instruction has, with its position.
pub(crate) fn unknown(words: &[u8]) -> Option<(usize, &[u8])> {
    modifiers(words).enumerate().find(|(_, modifier)| !is_known(modifier))
}
